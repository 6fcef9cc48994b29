package providertest

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/goodfleet/goodfleet/provider"
)

// plainKey is what every cloud takes as the key of a tag: Google's labels are the
// narrowest. EC2 keeps "aws:" for itself, which does not match, and Google "goog".
var plainKey = regexp.MustCompile(`^[a-z][a-z0-9_-]{0,62}$`)

var listingClauses = []clause{
	{
		name: "cloud-has-its-name",
		law:  "Name is the Cloud of the offerings.",
		show: func(_ context.Context, s *scene) error {
			if got := s.Cloud.Name(); got != s.Offering.Cloud {
				return fmt.Errorf("name %q, offering of %q", got, s.Offering.Cloud)
			}
			return nil
		},
	},
	{
		name: "listed-within-grace",
		law:  "A machine is listed within the grace after its launch, and from then on always.",
		show: func(ctx context.Context, s *scene) error {
			want, err := s.launch(ctx, "grace", 2)
			if err != nil {
				return err
			}
			for range 3 {
				s.Wait(s.Grace)
				list, err := s.Cloud.Instances(ctx)
				if err != nil {
					return err
				}
				if got := ids(list); !slices.Equal(got, want) {
					return fmt.Errorf("%v after the launch %v is listed, want %v", s.Grace, got, want)
				}
			}
			return nil
		},
	},
	{
		name: "listing-has-every-machine",
		law:  "A listing of more machines than one answer of the cloud holds has each of them once.",
		show: func(ctx context.Context, s *scene) error {
			want, err := s.launch(ctx, "many", s.Many)
			if err != nil {
				return err
			}
			return s.only(ctx, want)
		},
	},
	{
		name: "tags-come-back",
		law:  "The listing shows all tags of a launch, unchanged.",
		show: func(ctx context.Context, s *scene) error {
			req := s.request("3b2f1c9e-0d5a-4b7e-9f64-1a2b3c4d5e6f", 1)
			req.Tags.Epoch, req.Tags.Round = 1<<40, 1<<53+1
			got, err := s.Cloud.Launch(ctx, req)
			if err != nil {
				return err
			}
			list, err := s.listed(ctx, ids(got))
			if err != nil {
				return err
			}
			if inst, _ := find(list, got[0].ID); inst.Tags != req.Tags {
				return fmt.Errorf("tags %+v, want %+v", inst.Tags, req.Tags)
			}
			return nil
		},
	},
	{
		name: "tag-keys-are-plain",
		law:  "A machine has the keys of our tags, each once, and no key that a cloud refuses, keeps for itself or hides from the machine.",
		show: func(ctx context.Context, s *scene) error {
			if s.TagKeys == nil {
				return errors.New("the stage cannot see tags: declare the clause in CannotShow")
			}
			got, err := s.Cloud.Launch(ctx, s.request("tag keys", 1))
			if err != nil {
				return err
			}
			if _, err := s.listed(ctx, ids(got)); err != nil {
				return err
			}
			keys := slices.Sorted(slices.Values(s.TagKeys(got[0].ID)))
			for i, key := range keys {
				switch {
				case i > 0 && key == keys[i-1]:
					return fmt.Errorf("key %q is there twice", key)
				case !plainKey.MatchString(key) || strings.HasPrefix(key, "goog-"):
					return fmt.Errorf("key %q: want 1 to 63 lower-case letters, digits, - and _, beginning with a letter", key)
				}
			}
			for _, key := range provider.TagKeys() {
				if !slices.Contains(keys, key) {
					return fmt.Errorf("keys %q: %s is missing", keys, key)
				}
			}
			return nil
		},
	},
	{
		name: "life-goes-forward",
		law:  "A machine is pending without a start, then runs with one between its launch and now.",
		show: func(ctx context.Context, s *scene) error {
			want, err := s.launch(ctx, "life", 1)
			if err != nil {
				return err
			}
			list, err := s.listed(ctx, want)
			if err != nil {
				return err
			}
			if inst, _ := find(list, want[0]); inst.State == provider.Pending && !inst.Started.IsZero() {
				return fmt.Errorf("pending with a start: %+v", inst)
			}
			s.Wait(s.Boot)
			inst, err := s.state(ctx, want[0], provider.Running)
			if err != nil {
				return err
			}
			if inst.Started.IsZero() || inst.Started.Before(inst.Launched) || !inst.Ended.IsZero() || inst.Cause != provider.NotEnded {
				return fmt.Errorf("running: %+v", inst)
			}
			return nil
		},
	},
	{
		name:  "failed-listing-is-no-listing",
		law:   "A listing that fails is an error, never an empty list or a part.",
		needs: func(t Trouble) bool { return t.FailListing != nil },
		show: func(ctx context.Context, s *scene) error {
			if _, err := s.launch(ctx, "listing", 1); err != nil {
				return err
			}
			s.Trouble.FailListing(provider.ErrThrottled)
			list, err := s.Cloud.Instances(ctx)
			if len(list) != 0 || provider.KindOf(err) != provider.ErrThrottled {
				return fmt.Errorf("%d machines, error %v, want ErrThrottled", len(list), err)
			}
			return nil
		},
	},
	{
		name:  "others-are-listed",
		law:   "Machines of other fleets are listed with their own tag: they count against quotas.",
		needs: func(t Trouble) bool { return t.Foreign != nil },
		show: func(ctx context.Context, s *scene) error {
			s.Trouble.Foreign("other-fleet")
			_, err := s.await(ctx, "a machine of another fleet is listed", func(list []provider.Instance) bool {
				return len(list) == 1 && list[0].Tags.Fleet == "other-fleet"
			})
			return err
		},
	},
	{
		name:  "interruption-is-told",
		law:   "A machine that the cloud takes is told of, not after its loss, and ends as interrupted at the time that was told.",
		needs: func(t Trouble) bool { return t.Interrupt != nil },
		show: func(ctx context.Context, s *scene) error {
			want, err := s.launch(ctx, "taken", 2)
			if err != nil {
				return err
			}
			s.Wait(s.Boot)
			s.Trouble.Interrupt(want[0])
			inst, err := s.state(ctx, want[0], provider.Ended)
			if err != nil {
				return err
			}
			notices, err := s.Cloud.Interruptions(ctx)
			if err != nil {
				return err
			}
			for _, n := range notices {
				if n.Instance != want[0] {
					return fmt.Errorf("a notice of %s, which was not taken", n.Instance)
				}
			}
			if len(notices) == 0 {
				return fmt.Errorf("a machine ended as %v, and no notice tells of it", inst.Cause)
			}
			if n := notices[0]; n.Offering != s.Offering || n.Noticed.After(n.Loss) || inst.Cause != provider.Interrupted || !inst.Ended.Equal(n.Loss) {
				return fmt.Errorf("notice %+v of %+v", n, inst)
			}
			return nil
		},
	},
	{
		name:  "hint-is-no-notice",
		law:   "A machine that the cloud may take is told of as a hint, without a time of loss, and goes on; a notice of it replaces the hint.",
		needs: func(t Trouble) bool { return t.Hint != nil && t.Interrupt != nil },
		show: func(ctx context.Context, s *scene) error {
			want, err := s.launch(ctx, "hinted", 2)
			if err != nil {
				return err
			}
			s.Wait(s.Boot)
			s.Trouble.Hint(want[0])
			s.Wait(s.Grace)
			words, err := s.Cloud.Interruptions(ctx)
			if err != nil {
				return err
			}
			if len(words) != 1 || words[0].Instance != want[0] || !words[0].Hint || !words[0].Loss.IsZero() {
				return fmt.Errorf("words %+v, want one hint of %s without a loss", words, want[0])
			}
			if _, err := s.state(ctx, want[0], provider.Running); err != nil {
				return err
			}
			s.Trouble.Interrupt(want[0])
			if _, err := s.state(ctx, want[0], provider.Ended); err != nil {
				return err
			}
			if words, err = s.Cloud.Interruptions(ctx); err != nil {
				return err
			}
			if len(words) != 1 || words[0].Hint || words[0].Loss.IsZero() {
				return fmt.Errorf("words %+v of a machine that was taken, want its notice alone", words)
			}
			return nil
		},
	},
}
