visibility = 300
