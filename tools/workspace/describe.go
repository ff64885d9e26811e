package workspace

import "toolhost/agenttool"

// Reading is the permission profile of a tool that reads files through a workspace, and Writing that of one that changes them.
var (
	Reading = agenttool.PermissionProfile{
		RiskLevel: "low", AccessKinds: []string{"file_read"}, WriteEffects: []string{"none"}, SandboxProfile: decided, RuleMatchingFields: []string{"path"},
	}
	Writing = agenttool.PermissionProfile{
		RiskLevel: "medium", AccessKinds: []string{"file_write"}, WriteEffects: []string{"local_persistent"}, SandboxProfile: decided, RuleMatchingFields: []string{"path"},
		ApprovalRequired: true,
	}
)

const decided = "none: the host opens the paths that were decided about, and no other"
