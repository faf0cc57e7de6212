/** A question to the code: how does what is measured stand to a baseline that is taken in the same run? */
export interface Question {
  name: string
  question: string
  baseline: string
  unit: string
  /** The ratio that is asked for, of measured to baseline; undefined where it is only reported. */
  goal?: { atLeast: number } | { atMost: number }
  /** Makes ready; each function then measures once. A plain number is one in the unit. */
  prepare(): Promise<{ baseline: Measure; measured: Measure; close: () => Promise<void> }>
}

type Measure = () => Promise<number | Measurement>

export interface Measurement {
  /** In the unit of the question. */
  value: number
  /** What an operation costs the process that is measured, where that does nothing else. */
  cpuMicrosPerOperation: number
}

export interface Answer {
  name: string
  question: string
  baseline: string
  unit: string
  baselineMedian: number
  measuredMedian: number
  ratio: number
  goal: Question['goal'] | null
  reached: boolean | null
  /** Medians of the CPU time per operation, where both sides tell it. */
  cpuMicrosPerOperation: { baseline: number; measured: number } | null
  /** What each measurement gave. */
  rounds: { baseline: number | Measurement; measured: number | Measurement }[]
}

/** Enough rounds that a median means something on a machine that others use too. */
const ROUNDS = Number(process.env['BENCH_ROUNDS'] ?? 5)

/** Warms up, then measures baseline and measured in turns, so that what slows the machine slows both. */
export const answer = async ({ prepare, goal, ...about }: Question): Promise<Answer> => {
  const { baseline, measured, close } = await prepare()
  try {
    await baseline()
    await measured()
    const rounds: Answer['rounds'] = []
    for (let round = 0; round < ROUNDS; round++) rounds.push({ baseline: await baseline(), measured: await measured() })
    const baselineMedian = median(rounds.map(round => numberOf(round.baseline)))
    const measuredMedian = median(rounds.map(round => numberOf(round.measured)))
    const ratio = measuredMedian / baselineMedian
    return {
      ...about,
      baselineMedian,
      measuredMedian,
      ratio,
      goal: goal ?? null,
      reached: reached(ratio, goal),
      cpuMicrosPerOperation: cpuMedians(rounds),
      rounds,
    }
  } finally {
    await close()
  }
}

const numberOf = (taken: number | Measurement): number => (typeof taken === 'number' ? taken : taken.value)

const cpuMedians = (rounds: Answer['rounds']): Answer['cpuMicrosPerOperation'] => {
  const cpuOf = (taken: number | Measurement) => (typeof taken === 'number' ? [] : taken.cpuMicrosPerOperation)
  const baseline = rounds.flatMap(round => cpuOf(round.baseline))
  const measured = rounds.flatMap(round => cpuOf(round.measured))
  if (baseline.length === 0 || measured.length === 0) return null
  return { baseline: median(baseline), measured: median(measured) }
}

const reached = (ratio: number, goal: Question['goal']): boolean | null => {
  if (!goal) return null
  return 'atLeast' in goal ? ratio >= goal.atLeast : ratio <= goal.atMost
}

const median = (numbers: number[]): number => {
  const sorted = numbers.toSorted((a, b) => a - b)
  return sorted[Math.floor(sorted.length / 2)] as number
}
