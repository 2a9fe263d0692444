visibility = 360
