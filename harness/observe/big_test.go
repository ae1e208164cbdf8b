package observe_test
import ("testing";"time";"rowproof/fixtures";"rowproof/harness/topology";"rowproof/harness/observe")
func TestBig(t *testing.T){
 db := server(t, topology.Spec{GTID:true, DataMegabytes: 6000, Options: []string{"--innodb-buffer-pool-size=128M"}}).Source().DB
 b:=time.Now()
 if err:=fixtures.Sbtest(2_000_000).Load(t.Context(), db, schema); err!=nil {t.Fatal(err)}
 t.Log("load", time.Since(b)); b=time.Now()
 o,err:=observe.Oracle(t.Context(), db, table("sbtest"), "ADD COLUMN note VARCHAR(64) NULL"); if err!=nil {t.Fatal(err)}
 t.Log("oracle", time.Since(b)); b=time.Now()
 c,err:=observe.Compare(t.Context(), observe.Side{db,o}, observe.Side{db,table("sbtest")}, observe.Options{}); if err!=nil {t.Fatal(err)}
 t.Log("compare", time.Since(b), c.Rows, c.Chunks, len(c.Diffs)); b=time.Now()
 run(t,db,"UPDATE "+schema+".sbtest SET pad='x' WHERE id IN (77, 1000000, 1999999)")
 c,err=observe.Compare(t.Context(), observe.Side{db,o}, observe.Side{db,table("sbtest")}, observe.Options{}); if err!=nil {t.Fatal(err)}
 t.Log("compare", time.Since(b), reported(c)); b=time.Now()
}
