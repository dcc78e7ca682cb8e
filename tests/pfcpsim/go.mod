module airpath/tests/pfcpsim

go 1.26.0

tool (
	github.com/omec-project/pfcpsim/cmd/pfcpctl
	github.com/omec-project/pfcpsim/cmd/pfcpsim
)

require (
	github.com/omec-project/pfcpsim v1.4.3 // indirect
	github.com/urfave/cli/v3 v3.7.0 // indirect
	github.com/wmnsk/go-pfcp v0.0.24 // indirect
	go.uber.org/multierr v1.11.0 // indirect
	go.uber.org/zap v1.27.1 // indirect
	golang.org/x/net v0.51.0 // indirect
	golang.org/x/sys v0.41.0 // indirect
	golang.org/x/text v0.34.0 // indirect
	google.golang.org/genproto/googleapis/rpc v0.0.0-20260226221140-a57be14db171 // indirect
	google.golang.org/grpc v1.79.3 // indirect
	google.golang.org/protobuf v1.36.11 // indirect
)
