import { readFileSync } from 'node:fs'

/** The CPU time of a process so far. The kernel counts in hundredths of a second. */
export const cpuMsOf = (pid: number): number => {
  const [, fields = ''] = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')
  const [user, system] = fields.split(' ').slice(11, 13)
  return (Number(user) + Number(system)) * 10
}
