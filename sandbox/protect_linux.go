package sandbox

func (p *plan) protect() {}
