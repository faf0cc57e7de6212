import { readFileSync } from 'node:fs'
import { setTimeout as delay } from 'node:timers/promises'
import type { Measurement } from './compare.ts'

/** The CPU time of a process so far, of all threads. The kernel counts in hundredths of a second. */
export const cpuMsOf = (pid: number): number => cpuMsIn(`/proc/${pid}/stat`)

/** The same, of the main thread alone. */
const mainCpuMsOf = (pid: number): number => cpuMsIn(`/proc/${pid}/task/${pid}/stat`)

const cpuMsIn = (file: string): number => {
  const [, fields = ''] = readFileSync(file, 'utf8').split(') ')
  const [user, system] = fields.split(' ').slice(11, 13)
  return (Number(user) + Number(system)) * 10
}

/**
 * What servers do for a number of operations: the value that `work` tells, and the CPU time for each operation, including
 * what it leaves behind. The servers must do nothing else meanwhile.
 */
export const measureCpu = async (
  pids: number[],
  work: () => Promise<{ operations: number; value: number }>,
): Promise<Measurement> => {
  const sum = (cpuOf: (pid: number) => number) => pids.reduce((ms, pid) => ms + cpuOf(pid), 0)
  const [main, all] = [sum(mainCpuMsOf), sum(cpuMsOf)]
  const { operations, value } = await work()
  for (const pid of pids) await idle(pid)
  const micros = (ms: number) => (ms * 1000) / operations
  return { value, cpuMicros: { main: micros(sum(mainCpuMsOf) - main), all: micros(sum(cpuMsOf) - all) } }
}

/** Operations per second in this process, and the CPU time of all its threads for each. */
export const measureOwnCpu = async (work: () => Promise<number>): Promise<Measurement> => {
  const [startMs, before] = [performance.now(), process.cpuUsage()]
  const operations = await work()
  const { user, system } = process.cpuUsage(before)
  const seconds = (performance.now() - startMs) / 1000
  return { value: operations / seconds, cpuMicros: { all: (user + system) / operations } }
}

/** Starts to count; the function returned says how many cores all other processes have taken since. */
export const busyOthers = (pids: number[]): (() => number) => {
  const others = () => busyMs() - pids.reduce((ms, pid) => ms + cpuMsOf(pid), 0)
  const [startMs, before] = [performance.now(), others()]
  return () => Math.max(0, (others() - before) / (performance.now() - startMs))
}

/** The CPU time of the whole machine so far, which is idle or waits otherwise. */
const busyMs = (): number => {
  const [first = ''] = readFileSync('/proc/stat', 'utf8').split('\n')
  const [user = 0, nice = 0, system = 0, , , irq = 0, softIrq = 0] = first.split(/ +/).slice(1).map(Number)
  return (user + nice + system + irq + softIrq) * 10
}

const IDLE_CHECK_MS = 200
/** A service that waits takes less in that time. */
const IDLE_CPU_MS = 20
const MAX_CHECKS = 50

/** Waits until a process has done what a load left behind. */
export const idle = async (pid: number): Promise<void> => {
  for (let check = 0, before = cpuMsOf(pid); check < MAX_CHECKS; check++) {
    await delay(IDLE_CHECK_MS)
    const now = cpuMsOf(pid)
    if (now - before < IDLE_CPU_MS) return
    before = now
  }
}
