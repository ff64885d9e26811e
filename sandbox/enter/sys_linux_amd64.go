package enter

const (
	sysSeccomp     = 317
	sysMemfdCreate = 319
)
