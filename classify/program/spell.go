package program

func isDigit(c byte) bool { return '0' <= c && c <= '9' }
