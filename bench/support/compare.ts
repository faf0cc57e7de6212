/** A comparison of the code with a baseline that is measured in the same run. */
export interface Benchmark {
  name: string
  question: string
  baseline: string
  unit: string
  /** The goal for the ratio of measured to baseline; undefined if it is only reported. */
  goal?: { atLeast: number } | { atMost: number }
  /** How many rounds; by default BENCH_ROUNDS. Small differences need many short ones. */
  roundCount?: number
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
  /** The median of the ratios of all rounds: what slows the machine for a while changes few of them. */
  ratio: number
  goal: Benchmark['goal'] | null
  reached: boolean | null
  /** Medians of the CPU time per operation and of its ratios, if both sides report it. */
  cpuMicrosPerOperation: { baseline: number; measured: number; ratio: number } | null
  /** All measurements. */
  rounds: { baseline: number | Measurement; measured: number | Measurement }[]
}

/** Enough rounds for a meaningful median on a shared machine. */
const ROUNDS = Number(process.env['BENCH_ROUNDS'] ?? 5)

/**
 * Warms up, then measures both sides in turns, so that anything that slows the machine slows both. Either side comes first
 * in half of the rounds.
 */
export const compare = async ({ prepare, goal, roundCount = ROUNDS, ...about }: Benchmark): Promise<Result> => {
  const { baseline, measured, close } = await prepare()
  try {
    await baseline()
    await measured()
    const rounds: Result['rounds'] = []
    for (let round = 0; round < roundCount; round++)
      if (round % 2 === 0) rounds.push({ baseline: await baseline(), measured: await measured() })
      else rounds.push({ measured: await measured(), baseline: await baseline() })
    const { ratio, ...medians } = mediansOf(rounds.map(round => [numberOf(round.baseline), numberOf(round.measured)]))
    return {
      ...about,
      baselineMedian: medians.baseline,
      measuredMedian: medians.measured,
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
  const pairs = rounds.flatMap(({ baseline, measured }): [number, number][] =>
    typeof baseline === 'number' || typeof measured === 'number'
      ? []
      : [[baseline.cpuMicrosPerOperation, measured.cpuMicrosPerOperation]],
  )
  return pairs.length === 0 ? null : mediansOf(pairs)
}

const mediansOf = (pairs: [baseline: number, measured: number][]) => ({
  baseline: median(pairs.map(([baseline]) => baseline)),
  measured: median(pairs.map(([, measured]) => measured)),
  ratio: median(pairs.map(([baseline, measured]) => measured / baseline)),
})

const reached = (ratio: number, goal: Benchmark['goal']): boolean | null => {
  if (!goal) return null
  return 'atLeast' in goal ? ratio >= goal.atLeast : ratio <= goal.atMost
}

const median = (numbers: number[]): number => {
  const sorted = numbers.toSorted((a, b) => a - b)
  return sorted[Math.floor(sorted.length / 2)] as number
}
