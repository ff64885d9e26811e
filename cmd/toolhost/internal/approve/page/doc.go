// Package page serves the prompts of one session to paired browsers: a page of one file, and the requests that it makes.
//
// A browser is paired with a code that a person reads off a terminal. The code counts once, for five minutes and five tries. The browser
// then holds a token, in the storage of the page's own origin: a cookie would also go to other ports of the same machine. The server
// takes an answer only to a prompt as this browser has it, and counts an allow only with all asking lines reported as read.
package page
