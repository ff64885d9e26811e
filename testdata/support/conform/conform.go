// Package conform records which rows of the table of conformance a test asserts. Only tests import it.
//
//	conform.Held(t, "AT-103")
//
// The call stands beside the assertion. testdata/conformance builds CONFORMANCE.md from the tests that passed.
package conform

import "testing"

// Key is the key of the test attributes that name rows.
const Key = "conformance"

// Held says that t asserts these rows of testdata/conformance/rows.tsv, should it pass.
func Held(t testing.TB, rows ...string) {
	t.Helper()
	for _, row := range rows {
		t.Attr(Key, row)
	}
}
