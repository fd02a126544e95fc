package slurmtest

import (
	"crypto/rand"
	"errors"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"testing"
)

const cluster = "private"

// write writes the configuration, and makes missing directories and keys.
func (s *Slurm) write() error {
	var errs []error
	for _, dir := range []string{"etc", "munge", "db", "state", "spool", "log", "run", "jwt"} {
		errs = append(errs, os.MkdirAll(s.path(dir), 0o755))
	}
	errs = append(errs, s.key("munge/key", 1024), s.key("jwt/key", 32))
	errs = append(errs, os.WriteFile(s.path("etc/slurmdbd.conf"), lines(s.accounting()), 0o600))
	errs = append(
		errs, os.WriteFile(s.path("etc/gres.conf"), []byte("Name=gpu File=/dev/null\nName=gpu File=/dev/zero\n"), 0o644))
	text := lines(s.parameters())
	for i, node := range s.Nodes() {
		text = fmt.Appendf(text, "NodeName=%s NodeHostname=localhost NodeAddr=127.0.0.1 Port=%d CPUs=%d RealMemory=4000 "+
			"Gres=gpu:2 State=UNKNOWN\n", node, s.ports[3+i], s.options.CPUs)
	}
	text = append(text, "PartitionName=batch Nodes=ALL Default=YES MaxTime=INFINITE State=UP\nPartitionName=short "+
		"Nodes=ALL MaxTime=60 State=UP\n"...)
	// This partition takes jobs and starts none.
	text = append(text, "PartitionName=closed Nodes=ALL MaxTime=INFINITE State=DOWN\n"...)
	errs = append(errs, os.WriteFile(s.Conf+".new", text, 0o644), os.Rename(s.Conf+".new", s.Conf))
	return errors.Join(errs...)
}

// key makes a secret of the given size in bytes.
func (s *Slurm) key(name string, size int) error {
	if _, err := os.Stat(s.path(name)); err == nil {
		return nil
	}
	secret := make([]byte, size)
	rand.Read(secret)
	return os.WriteFile(s.path(name), secret, 0o400)
}

// lines writes parameters, sorted. It omits parameters without a value.
func lines(parameters map[string]string) []byte {
	var b strings.Builder
	for _, name := range slices.Sorted(maps.Keys(parameters)) {
		if parameters[name] != "" {
			fmt.Fprintf(&b, "%s=%s\n", name, parameters[name])
		}
	}
	return []byte(b.String())
}

// accounting returns the parameters of slurmdbd.conf.
func (s *Slurm) accounting() map[string]string {
	all := map[string]string{
		"AuthType": "auth/munge", "AuthInfo": s.path("munge/sock"), "SlurmUser": "root",
		"DbdHost": "localhost", "DbdPort": fmt.Sprint(s.ports[1]), "PidFile": s.path("run/slurmdbd.pid"),
		"StorageType": "accounting_storage/mysql", "StorageHost": "localhost", "StorageLoc": "slurm_acct_db",
		"StorageUser": "slurm", "StoragePass": "slurm",
	}
	s.tokens(all)
	return all
}

// tokens lets a daemon accept tokens, if the test wants that.
func (s *Slurm) tokens(parameters map[string]string) {
	if s.options.REST {
		parameters["AuthAltTypes"], parameters["AuthAltParameters"] = "auth/jwt", "jwt_key="+s.path("jwt/key")
	}
}

// parameters returns the parameters of slurm.conf. The nodes are not real, so Slurm tracks processes without
// cgroups. It schedules many times a second, so that many short jobs flow.
func (s *Slurm) parameters() map[string]string {
	all := map[string]string{
		"ClusterName": cluster, "SlurmctldHost": "localhost", "SlurmctldPort": fmt.Sprint(s.ports[0]), "SlurmUser": "root",
		"SlurmdUser": "root", "AuthType": "auth/munge", "CredType": "cred/munge",
		"AuthInfo": "socket=" + s.path("munge/sock"), "StateSaveLocation": s.path("state"),
		"SlurmdSpoolDir": s.path("spool/%n"), "SlurmctldPidFile": s.path("run/slurmctld.pid"),
		"SlurmdPidFile": s.path("run/slurmd.%n.pid"), "SlurmdParameters": "config_overrides", "ReturnToService": "2",
		"MpiDefault": "none", "ProctrackType": "proctrack/linuxproc", "TaskPlugin": "task/none", "SwitchType": "switch/none",
		"JobAcctGatherType": "jobacct_gather/linux", "SelectType": "select/cons_tres", "SelectTypeParameters": "CR_Core",
		"GresTypes": "gpu", "Licenses": "matlab:5", "AccountingStorageTRES": "gres/gpu,license/matlab",
		"AccountingStorageType": "accounting_storage/slurmdbd", "AccountingStorageHost": "localhost",
		// sacctmgr does not read AuthInfo; it finds munged by AccountingStoragePass.
		"AccountingStoragePort": fmt.Sprint(s.ports[1]), "AccountingStoragePass": s.path("munge/sock"),
		"SchedulerType": "sched/backfill", "PriorityType": "priority/multifactor", "PriorityWeightFairshare": "10000",
		"PriorityDecayHalfLife": "0", "PriorityUsageResetPeriod": "NONE", "PriorityCalcPeriod": "1", "KillWait": "2",
		"MinJobAge": "300", "MaxJobCount": "100000",
		"SchedulerParameters": "sched_min_interval=20000,batch_sched_delay=0,bf_interval=1," +
			"default_queue_depth=1000,sched_interval=2",
	}
	s.tokens(all)
	maps.Copy(all, s.options.Conf)
	return all
}

// Accounts adds accounts, each with the users who may charge that account.
func (s *Slurm) Accounts(t testing.TB, all map[string][]string) {
	t.Helper()
	for _, name := range slices.Sorted(maps.Keys(all)) {
		s.Do(t, "sacctmgr", "-i", "add", "account", name, "cluster="+cluster)
		s.Do(t, "sacctmgr", "-i", "add", "user", strings.Join(all[name], ","), "account="+name, "cluster="+cluster)
	}
}

// Dir returns a directory that every user of the machine may read and write, and that is removed with this
// Slurm.
func (s *Slurm) Dir(t testing.TB, name string) string {
	t.Helper()
	dir := s.path(name)
	if err := errors.Join(os.MkdirAll(dir, 0o777), os.Chmod(dir, 0o777)); err != nil {
		t.Fatal(err)
	}
	return dir
}
