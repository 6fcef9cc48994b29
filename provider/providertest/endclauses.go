package providertest

import (
	"context"
	"errors"
	"fmt"

	"github.com/goodfleet/goodfleet/provider"
)

var endClauses = []clause{
	{
		name: "terminate-ends",
		law:  "A machine that we end is listed as ended by us, with the time at which its bill stopped.",
		show: func(ctx context.Context, s *scene) error {
			want, err := s.launch(ctx, "end", 2)
			if err != nil {
				return err
			}
			s.Wait(s.Boot)
			if err := s.Cloud.Terminate(ctx, want[0]); err != nil {
				return err
			}
			inst, err := s.state(ctx, want[0], provider.Ended)
			if err != nil {
				return err
			}
			if inst.Cause != provider.EndedByUs || inst.Ended.IsZero() || inst.Ended.Before(inst.Started) {
				return fmt.Errorf("ended: %+v", inst)
			}
			_, err = s.state(ctx, want[1], provider.Running)
			return err
		},
	},
	{
		name: "terminate-again",
		law:  "A machine that is gone may be terminated again without an error.",
		show: func(ctx context.Context, s *scene) error {
			want, err := s.launch(ctx, "again", 1)
			if err != nil {
				return err
			}
			if err := s.Cloud.Terminate(ctx, want...); err != nil {
				return err
			}
			if err := s.Cloud.Terminate(ctx, want...); err != nil {
				return fmt.Errorf("again, at once: %w", err)
			}
			if _, err := s.state(ctx, want[0], provider.Ended); err != nil {
				return err
			}
			if err := s.Cloud.Terminate(ctx, want...); err != nil {
				return fmt.Errorf("again, after it has ended: %w", err)
			}
			return nil
		},
	},
	{
		name: "terminate-unknown",
		law:  "An id that the cloud does not know is no error, and keeps no other machine from ending.",
		show: func(ctx context.Context, s *scene) error {
			want, err := s.launch(ctx, "unknown", 1)
			if err != nil {
				return err
			}
			if _, err := s.listed(ctx, want); err != nil {
				return err
			}
			if err := s.Cloud.Terminate(ctx, s.Unknown, want[0]); err != nil {
				return err
			}
			_, err = s.state(ctx, want[0], provider.Ended)
			return err
		},
	},
	{
		name:  "denied-end",
		law:   "A termination that is not allowed is ErrDenied, and the machine goes on.",
		needs: func(t Trouble) bool { return t.Protect != nil },
		show: func(ctx context.Context, s *scene) error {
			want, err := s.launch(ctx, "protected", 1)
			if err != nil {
				return err
			}
			s.Wait(s.Boot)
			s.Trouble.Protect(want[0])
			if err := s.Cloud.Terminate(ctx, want...); !errors.Is(err, provider.ErrDenied) {
				return fmt.Errorf("terminate: error %v, want ErrDenied", err)
			}
			_, err = s.state(ctx, want[0], provider.Running)
			return err
		},
	},
}
