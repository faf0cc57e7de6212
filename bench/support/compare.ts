/** A question to the code: how does what is measured stand to a baseline that is taken in the same run? */
export interface Question {
  name: string
  question: string
  baseline: string
  unit: string
  /** The ratio that is asked for, of measured to baseline; undefined where it is only reported. */
  goal?: { atLeast: number } | { atMost: number }
  /** Makes ready; each function then measures once, and resolves to a number in the unit. */
  prepare(): Promise<{ baseline: () => Promise<number>; measured: () => Promise<number>; close: () => Promise<void> }>
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
  rounds: { baseline: number; measured: number }[]
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
    const baselineMedian = median(rounds.map(round => round.baseline))
    const measuredMedian = median(rounds.map(round => round.measured))
    const ratio = measuredMedian / baselineMedian
    return {
      ...about,
      baselineMedian,
      measuredMedian,
      ratio,
      goal: goal ?? null,
      reached: reached(ratio, goal),
      rounds,
    }
  } finally {
    await close()
  }
}

const reached = (ratio: number, goal: Question['goal']): boolean | null => {
  if (!goal) return null
  return 'atLeast' in goal ? ratio >= goal.atLeast : ratio <= goal.atMost
}

const median = (numbers: number[]): number => {
  const sorted = numbers.toSorted((a, b) => a - b)
  return sorted[Math.floor(sorted.length / 2)] as number
}
