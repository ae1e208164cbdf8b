// Package control lets an operator steer a running migration over a unix
// socket.
//
// A client sends one line, a command with its arguments, and gets an answer
// in text; then the server closes the connection. So any tool that speaks to
// sockets will do (echo status | nc -U FILE). An answer that starts with
// "error: " says that nothing was done. Read Server, then Ask, the client.
package control
