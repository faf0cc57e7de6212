import { readFileSync } from 'node:fs'
import { setTimeout as delay } from 'node:timers/promises'

/** The CPU time of a process so far. The kernel counts in hundredths of a second. */
export const cpuMsOf = (pid: number): number => {
  const [, fields = ''] = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')
  const [user, system] = fields.split(' ').slice(11, 13)
  return (Number(user) + Number(system)) * 10
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
