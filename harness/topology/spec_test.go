package topology_test

import (
	"strings"
	"testing"

	"rowproof/harness/topology"
)

func TestSpecValidate(t *testing.T) {
	t.Run("OK", func(t *testing.T) {
		for _, spec := range []topology.Spec{
			{},
			{FirstBinlog: 999_999},
			{Replicas: 9, SemiSync: true, GTID: true, DataMegabytes: 4096, Options: []string{"--binlog-order-commits=OFF"}},
		} {
			if err := spec.Validate(); err != nil {
				t.Errorf("Validate(%+v) = %v, want nil", spec, err)
			}
		}
	})
	t.Run("ErrNamesField", func(t *testing.T) {
		for field, spec := range map[string]topology.Spec{
			"Replicas":       {Replicas: 10},
			"DataMegabytes":  {DataMegabytes: 10},
			"FirstBinlog":    {FirstBinlog: 1, Replicas: 1},
			"Options":        {Options: []string{"port=1"}},
			"SourceOptions":  {SourceOptions: []string{"--a\n--b"}},
			"ReplicaOptions": {ReplicaOptions: []string{""}},
		} {
			err := spec.Validate()
			if err == nil || !strings.Contains(err.Error(), "Spec."+field+" ") {
				t.Errorf("Validate of a bad %s = %v, want an error that names it", field, err)
			}
		}
	})
}
