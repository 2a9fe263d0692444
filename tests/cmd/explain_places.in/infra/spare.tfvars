visibility = 1
