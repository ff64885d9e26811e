package program

// judgeBuilds is the Judge of programs that run code of the project unless they are asked a question.
func judgeBuilds(_ *Args, u *Use) {
	u.Add(RunsCode, "runs code of this project")
	u.Effects = append(u.Effects, Writes)
}

// judgeMake is that of the programs that obey makefiles.
func judgeMake(a *Args, u *Use) {
	judgeBuilds(a, u)
	judgeMakeInstall(a, u)
}

// judgeCargoMetadata judges cargo metadata. Only with --no-deps it asks no compiler, which .cargo/config.toml may name,
// and has no need to write Cargo.lock.
func judgeCargoMetadata(a *Args, u *Use) {
	if a.Has("--no-deps") {
		return
	}
	u.Add(RunsCode, "asks the compiler that .cargo/config.toml names")
	if !a.Has("--locked", "--frozen") {
		u.Add(Writes, "may write Cargo.lock (with --locked it does not)")
	}
	if !a.Has("--offline", "--frozen") {
		u.Add(Reaches, "may ask the registry of cargo's configuration (with --offline it does not)")
	}
}

func judgeInfrastructure(a *Args, u *Use) {
	for _, w := range a.Operands {
		if w.Text == "destroy" || w.Text == "apply" || w.Text == "down" || w.Text == "-destroy" {
			u.Add(Destroys, "changes or removes infrastructure: "+spelled(w))
			return
		}
	}
}
