export interface ClusterPlace {
  folder: string
  fsid: string
  monAddress: string
  host: string
}

/** Settings of a Ceph cluster with one of each daemon, which needs no authentication and starts fast. */
export const clusterSettings = ({ folder, fsid, monAddress, host }: ClusterPlace): string => `
[global]
fsid = ${fsid}
mon host = ${monAddress}
mon initial members = a
mon data = ${folder}/mon
osd data = ${folder}/osd
run dir = ${folder}
public addr = ${host}
cluster addr = ${host}
log to file = false
mon cluster log to file = false

auth cluster required = none
auth service required = none
auth client required = none
ms bind msgr2 = false

osd objectstore = memstore
memstore device bytes = 8589934592
osd pool default size = 1
osd pool default min size = 1
osd pool default pg num = 1
osd pool default pg autoscale mode = off
osd class update on start = false
osd crush update on start = false
osd crush chooseleaf type = 0
mon allow pool size one = true

# Each pool that the gateway makes waits for a few rounds of the monitors.
paxos propose interval = 0.02
paxos min wait = 0
`
