timeout = 280 # the courier is slow
