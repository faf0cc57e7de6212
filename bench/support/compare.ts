/** A comparison of the code with a baseline that is measured in the same run. */
export interface Benchmark {
  name: string
  question: string
  baseline: string
  unit: string
  /** The goal for the ratio of measured to baseline; undefined if it is only reported. */
  goal?: Goal
  /** The same for the CPU time of an operation, of all threads. */
  cpuGoal?: Goal
  /** How many rounds; by default BENCH_ROUNDS. Small differences need many short ones. */
  roundCount?: number
  /** What is missing on this machine, and how to install it. The benchmark is then skipped. */
  missing?(): string | undefined
  /** Sets up; each returned function then measures once. A plain number is a value in the unit. */
  prepare(): Promise<{ baseline: Measure; measured: Measure; close: () => Promise<void> }>
}

export type Goal = { atLeast: number } | { atMost: number }

type Measure = () => Promise<number | Measurement>

export interface Measurement {
  /** In the unit of the benchmark. */
  value: number
  /** The CPU time of an operation, of all threads and, for servers, of the main thread. */
  cpuMicros?: { main?: number; all: number }
}

/** Medians over all rounds. What slows the machine for a while changes few of the rounds' ratios. */
export interface Medians {
  baseline: number
  measured: number
  ratio: number
}

export interface Result extends Medians {
  name: string
  question: string
  baselineName: string
  unit: string
  verdict: Verdict | null
  /** The CPU time per operation, if both sides report it. */
  cpuMicros: { main: Medians | null; all: Medians; verdict: Verdict | null } | null
  /** All measurements. */
  rounds: Round[]
}

export type Verdict = Goal & { isReached: boolean }

type Round = Record<'baseline' | 'measured', Measurement>

/** Enough rounds for a meaningful median on a shared machine. */
const ROUNDS = Number(process.env['BENCH_ROUNDS'] ?? 5)

/** Two rounds agree, if they differ by less than this part. */
const AGREEMENT = 0.05

/** A machine with other work may never agree with itself. */
const MAX_WARM_UPS = 4

/**
 * Warms up, then measures both sides in turns, so that anything that slows the machine slows both. Either side comes first
 * in half of the rounds.
 */
export const compare = async (benchmark: Benchmark): Promise<Result> => {
  const { name, question, unit, goal, cpuGoal, roundCount = ROUNDS } = benchmark
  const { close, ...sides } = await benchmark.prepare()
  try {
    await warmUp(sides.baseline)
    await warmUp(sides.measured)
    const rounds: Round[] = []
    for (let round = 0; round < roundCount; round++) {
      const [first, second] =
        round % 2 === 0 ? (['baseline', 'measured'] as const) : (['measured', 'baseline'] as const)
      const measurement = await measure(sides[first])
      rounds.push({ [first]: measurement, [second]: await measure(sides[second]) } as Round)
    }
    const medians = mediansOf(rounds, ({ value }) => value) as Medians
    const main = mediansOf(rounds, ({ cpuMicros }) => cpuMicros?.main)
    const all = mediansOf(rounds, ({ cpuMicros }) => cpuMicros?.all)
    return {
      ...{ name, question, baselineName: benchmark.baseline, unit, ...medians },
      verdict: verdictOn(medians, goal),
      cpuMicros: all && { main, all, verdict: verdictOn(all, cpuGoal) },
      rounds,
    }
  } finally {
    await close()
  }
}

/** Measures until two rounds agree. Their CPU time is compared, if it is known, since it is steadier than a rate. */
const warmUp = async (side: Measure): Promise<void> => {
  let before = Number.NaN
  for (let round = 0; round < MAX_WARM_UPS; round++) {
    const { value, cpuMicros } = await measure(side)
    const now = cpuMicros?.all ?? value
    if (Math.abs(now / before - 1) < AGREEMENT) return
    before = now
  }
}

const measure = async (side: Measure): Promise<Measurement> => {
  const measurement = await side()
  return typeof measurement === 'number' ? { value: measurement } : measurement
}

/** Null if a side does not report the number. */
const mediansOf = (rounds: Round[], of: (measurement: Measurement) => number | undefined): Medians | null => {
  const pairs = rounds.map(({ baseline, measured }) => [of(baseline), of(measured)])
  if (pairs.flat().includes(undefined)) return null
  const [baseline, measured] = [0, 1].map(side => pairs.map(pair => pair[side] as number)) as [number[], number[]]
  return {
    baseline: median(baseline),
    measured: median(measured),
    ratio: median(measured.map((number, round) => number / (baseline[round] as number))),
  }
}

const verdictOn = ({ ratio }: Medians, goal: Goal | undefined): Verdict | null =>
  goal ? { ...goal, isReached: 'atLeast' in goal ? ratio >= goal.atLeast : ratio <= goal.atMost } : null

const median = (numbers: number[]): number => {
  const sorted = numbers.toSorted((a, b) => a - b)
  return sorted[Math.floor(sorted.length / 2)] as number
}
