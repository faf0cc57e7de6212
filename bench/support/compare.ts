/** A comparison of the code with a baseline that is measured in the same run. */
export interface Benchmark {
  name: string
  question: string
  baseline: string
  unit: string
  /** The goal for the ratio of measured to baseline; undefined if it is only reported. */
  goal?: { atLeast: number } | { atMost: number }
  /** Sets up; each returned function then measures once. A plain number is a value in the unit. */
  prepare(): Promise<{ baseline: Measure; measured: Measure; close: () => Promise<void> }>
}

type Measure = () => Promise<number | Measurement>

export interface Measurement {
  /** In the unit of the benchmark. */
  value: number
  /** The CPU time of an operation, if the measured process does nothing else. */
  cpuMicrosPerOperation: number
}

export interface Result {
  name: string
  question: string
  baseline: string
  unit: string
  baselineMedian: number
  measuredMedian: number
  ratio: number
  goal: Benchmark['goal'] | null
  reached: boolean | null
  /** Medians of the CPU time per operation, if both sides report it. */
  cpuMicrosPerOperation: { baseline: number; measured: number } | null
  /** All measurements. */
  rounds: { baseline: number | Measurement; measured: number | Measurement }[]
}

/** Enough rounds for a meaningful median on a shared machine. */
const ROUNDS = Number(process.env['BENCH_ROUNDS'] ?? 5)

/** Warms up, then measures both sides in turns, so that anything that slows the machine slows both. */
export const compare = async ({ prepare, goal, ...about }: Benchmark): Promise<Result> => {
  const { baseline, measured, close } = await prepare()
  try {
    await baseline()
    await measured()
    const rounds: Result['rounds'] = []
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

const numberOf = (measurement: number | Measurement): number =>
  typeof measurement === 'number' ? measurement : measurement.value

const cpuMedians = (rounds: Result['rounds']): Result['cpuMicrosPerOperation'] => {
  const cpuOf = (measurement: number | Measurement) =>
    typeof measurement === 'number' ? [] : measurement.cpuMicrosPerOperation
  const baseline = rounds.flatMap(round => cpuOf(round.baseline))
  const measured = rounds.flatMap(round => cpuOf(round.measured))
  if (baseline.length === 0 || measured.length === 0) return null
  return { baseline: median(baseline), measured: median(measured) }
}

const reached = (ratio: number, goal: Benchmark['goal']): boolean | null => {
  if (!goal) return null
  return 'atLeast' in goal ? ratio >= goal.atLeast : ratio <= goal.atMost
}

const median = (numbers: number[]): number => {
  const sorted = numbers.toSorted((a, b) => a - b)
  return sorted[Math.floor(sorted.length / 2)] as number
}
