// Package rap serves the Reactive Agent Protocol: a runtime discovers the tools of a host, calls them by POSTs that are
// acknowledged at once, and gets each result by a POST to the callback URL of its call.
//
//	s, err := rap.New(rap.Options{Host: h, Base: "http://127.0.0.1:8722/rap"})
//	mux.Handle("/rap/", s.Handler()) // behind authentication: this package has none
//	…
//	s.Close() // before the host
//
// The handler serves, below the base:
//
//	GET  /.well-known/rap-toolset       the tools that can be called now
//	POST /invoke                        a call; 200 says that it will be answered by a callback, anything else that it will not
//	POST /user_choice_response/{id}     the answer to a user_choice, at an id that cannot be guessed. The first valid one
//	                                    counts, the same again gets 200, another 409; five that are no choice deny
//	POST /cancel_tool_call              ends a call, and the job that it left
//	POST /close_thread                  ends all calls of a group
//	POST /tool_call_status              {"alive":true} while a callback is owed
//
// The server posts tool_result (once for every call that was accepted), user_choice where the host asks a person,
// subscription_event for a job that goes on after its call, and view_update with the diff of a change.
//
// The messages of one group are delivered in the order of their creation, each until it is accepted: after 5xx, timeouts
// and broken connections the server tries again for ten minutes, every other answer is final. A callback goes to this machine
// over loopback, or to a host that [Options.AllowCallback] names, over https; the address is checked after the name was
// resolved, and no redirect is followed. Callback URLs are secrets: they are in no message, no record and no log.
package rap
