package agenttool

import (
	"bytes"
	"cmp"
	"io/fs"

	"toolhost/agenttool/json"
)

// Complete fills in the members of a tool's records that follow from the others: versions, ids and references, the members that the
// interface repeats from the declaration, and those that all tools of toolhost share. These tools take JSON, can be canceled and have a
// deadline, work offline and for this user alone, and get no credentials. The declaration has a name, and both contracts.
func (d Description) Complete() Description {
	a, i, e, p := &d.Declaration, &d.Interface, &d.Execution, &d.Permission
	id := "toolhost." + a.Name
	a.SchemaVersion, i.SchemaVersion, e.SchemaVersion, p.SchemaVersion = SchemaVersion, SchemaVersion, SchemaVersion, SchemaVersion
	a.ToolID, i.ToolID = ToolID(id), ToolID(id)
	i.InterfaceID, e.ExecutionProfileID, p.PermissionProfileID = id+".interface", id+".execution", id+".permission"
	a.InterfaceRef, a.ExecutionProfileRef, a.PermissionProfileRef = i.InterfaceID, e.ExecutionProfileID, p.PermissionProfileID
	i.ExecutionProfileRef, i.PermissionProfileRef = e.ExecutionProfileID, p.PermissionProfileID

	a.Lifecycle = Available
	a.InputContract.ArgumentMode, a.InputContract.Strict = "json", true
	i.Name, i.Namespace, i.Aliases, i.SearchHint = a.Name, a.Namespace, a.Aliases, a.SearchHint
	i.Schemas = Schemas{
		ModelInputSchema: a.InputContract.ModelInputSchema, RuntimeInputSchema: a.InputContract.RuntimeInputSchema,
		OutputSchema: a.OutputContract.StructuredSchema, Strict: true, SchemaVisibility: "loaded",
	}
	i.IsEnabled, i.InterruptBehavior, i.DenyBeforeIO = true, "cancel", true
	i.MaxInlineChars = a.OutputContract.MaxInlineChars
	i.PersistencePolicyRef = cmp.Or(i.PersistencePolicyRef, a.OutputContract.PersistencePolicyRef)

	e.SupportsCancel, e.SupportsTimeout, e.SupportsOffline = true, true, true
	p.NetworkScope, p.TenantScope, p.CredentialRefs = cmp.Or(p.NetworkScope, "none"), "local", []string{}
	p.PromptAvoidable, p.DataSensitivity, p.RetentionHint, p.RedactionRequired = true, "unknown", "session", true
	return d
}

// ReadSchema returns the schema in a file, in its compact form. The files are embedded, so that it panics if there is none.
func ReadSchema(files fs.FS, name string) json.RawMessage {
	text, err := fs.ReadFile(files, name)
	var b bytes.Buffer
	if err = cmp.Or(err, json.Compact(&b, text)); err != nil {
		panic("agenttool: schema " + name + ": " + err.Error())
	}
	return b.Bytes()
}
