timeout = 90
