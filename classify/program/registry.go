package program

import (
	"strings"
	"sync"
)

// lists are the descriptions, file by file. They are made at the first lookup and compiled one by one at their first
// use.
func lists() [][]*Spec {
	return [][]*Spec{
		gitSpecs(),
		findSpecs(),
		xargsSpecs(),
		searchSpecs(),
		wrapperSpecs(),
		privilegeSpecs(),
		shellSpecs(),
		interpreterSpecs(),
		goSpecs(),
		nodeSpecs(),
		buildSpecs(),
		containerSpecs(),
		forgeSpecs(),
		systemSpecs(),
		networkSpecs(),
		coreutilSpecs(),
		textSpecs(),
		hashSpecs(),
		processSpecs(),
		viewerSpecs(),
		binutilSpecs(),
		compressSpecs(),
		tarSpecs(),
		zipSpecs(),
		grepSpecs(),
		sedSpecs(),
		awkSpecs(),
		jqSpecs(),
		writerSpecs(),
		machineSpecs(),
		interfaceSpecs(),
		packageSpecs(),
		cryptoSpecs(),
		inspectSpecs(),
		editorSpecs(),
		macosSpecs(),
		carrierSpecs(),
		partialDestroyers(),
	}
}

var registry = sync.OnceValue(func() map[string]*Spec {
	byName := make(map[string]*Spec, 512)
	for _, list := range lists() {
		for _, spec := range list {
			spec.carried = carriedBy(spec)
			for name := range strings.FieldsSeq(spec.Names) {
				if byName[name] == nil {
					byName[name] = spec
				}
			}
		}
	}
	return byName
})

// Lookup returns the description of the program with this name, nil if there is none.
func Lookup(name string) *Spec {
	if spec := registry()[name]; spec != nil && !spec.Partial {
		return spec
	}
	return nil
}
