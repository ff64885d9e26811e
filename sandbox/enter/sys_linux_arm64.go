package enter

const (
	sysSeccomp     = 277
	sysMemfdCreate = 279
)
