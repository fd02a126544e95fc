package fairlead

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/fairlead/fairlead/cluster"
)

// BridgeLabel is the label of a node that stands for another queueing system; its value is the
// kind of the bridge.
const BridgeLabel = "bridge"

// bridgeSetting is the key prefix under which it is kept of which kind the bridge of a node is: what
// was leased to it goes on in its queueing system while the bridge and this server are away, and
// whoever asks then is to be told what to start.
const bridgeSetting = "bridged/"

// loadBridges reads which nodes are those of bridges.
func (l *Loop) loadBridges(settings map[string]string) {
	for key, kind := range settings {
		if node, is := strings.CutPrefix(key, bridgeSetting); is {
			l.bridges[node] = kind
		}
	}
}

// keepBridge keeps of which kind the bridge of a node is, "" if it is none. Mostly that is known.
func (l *Loop) keepBridge(ctx context.Context, node, kind string) error {
	l.mu.Lock()
	known := l.bridges[node] == kind
	l.mu.Unlock()
	if keeper, ok := l.store.(Settings); known || !ok {
		return nil
	} else if err := keeper.Set(ctx, bridgeSetting+node, kind); err != nil {
		return fmt.Errorf("keep that %s is a bridge's: %w", node, err)
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.bridges[node] = kind; kind == "" {
		delete(l.bridges, node)
	}
	return nil
}

// ForgetBridge forgets that a node was that of a bridge.
func (l *Loop) ForgetBridge(ctx context.Context, node string) error {
	return l.keepBridge(ctx, node, "")
}

// downNode adds a node of which only what is kept is known: it runs something, and has not joined
// this server yet.
func (l *Loop) downNode(name string, now time.Time) cluster.NodeID {
	var labels cluster.Labels
	if kind := l.bridges[name]; kind != "" {
		labels = cluster.Labels{BridgeLabel: kind}
	}
	id := l.core.JoinLabelled(name, nil, labels, now)
	l.core.SetNode(id, cluster.Down, now)
	return id
}

// whichBridge says which bridges to start, if all nodes that are down are those of bridges; ""
// if some are not, or none is. Those that have not joined since the server was started count, but for
// drained ones.
func (l *Loop) whichBridge() string {
	kinds := maps.Clone(l.bridges)
	maps.DeleteFunc(kinds, func(name, _ string) bool { return l.drained[name] != "" }) // it ended on purpose
	for _, n := range l.core.Cluster().Nodes() {
		if n.State != cluster.Down {
			delete(kinds, n.Name)
			continue
		}
		if kinds[n.Name] = n.Labels[BridgeLabel]; kinds[n.Name] == "" {
			return ""
		}
	}
	var commands []string
	for _, name := range slices.Sorted(maps.Keys(kinds)) {
		commands = append(commands, fmt.Sprintf("fairlead bridge %s --name %s", kinds[name], name))
	}
	if len(commands) == 0 {
		return ""
	}
	const most = 3
	return "start the bridge again, with the options that it had: " + strings.Join(commands[:min(most, len(commands))], ", or ")
}
