type Labels = Readonly<Record<string, string>>

/** A number in the form of prom-client. */
interface Shown {
  metricName?: string
  labels: Record<string, string | number>
  value: number
}

interface Options {
  name: string
  help: string
  labelNames: readonly string[]
}

/**
 * A counter or a histogram that a registry of prom-client shows. Those of prom-client hash the labels with each number,
 * which took several percent of the CPU time of a run.
 */
abstract class Series<Cell> {
  readonly name: string
  readonly help: string
  abstract readonly type: 'counter' | 'histogram'
  readonly aggregator = 'sum'
  readonly #labelNames: readonly string[]
  readonly #cells = new Map<string, [Cell, Labels]>()

  constructor({ name, help, labelNames }: Options) {
    this.name = name
    this.help = help
    this.#labelNames = labelNames
  }

  async get() {
    const { name, help, type, aggregator } = this
    const values = [...this.#cells.values()].flatMap(([cell, labels]) => this.show(cell, labels))
    return { name, help, type, aggregator, values }
  }

  protected abstract begin(): Cell
  protected abstract show(cell: Cell, labels: Labels): Shown[]

  /** The cell of the values of at most three labels. */
  protected cell(first = '', second = '', third = ''): Cell {
    const key = `${first}\n${second}\n${third}`
    const found = this.#cells.get(key)
    if (found) return found[0]
    const values = [first, second, third]
    const cell = this.begin()
    this.#cells.set(key, [
      cell,
      Object.fromEntries(this.#labelNames.map((label, index) => [label, values[index] ?? ''])),
    ])
    return cell
  }
}

/** A sum of integers in units of `scale`, since a sum of fractions drifts. */
export class Counter extends Series<{ sum: number }> {
  readonly type = 'counter'
  readonly #scale: number

  constructor({ scale = 1, ...options }: Options & { scale?: number }) {
    super(options)
    this.#scale = scale
    // A counter without labels is shown from the start.
    if (options.labelNames.length === 0) this.add(0)
  }

  add(number: number, ...values: [first?: string, second?: string, third?: string]) {
    this.cell(...values).sum += number
  }

  protected begin() {
    return { sum: 0 }
  }

  protected show({ sum }: { sum: number }, labels: Labels) {
    return [{ labels, value: sum * this.#scale }]
  }
}

interface Distribution {
  /** The numbers in each bucket, and those above all buckets. */
  counts: number[]
  sum: number
}

export class Histogram extends Series<Distribution> {
  readonly type = 'histogram'
  readonly #buckets: readonly number[]

  constructor({ buckets, ...options }: Options & { buckets: readonly number[] }) {
    super(options)
    this.#buckets = buckets
    if (options.labelNames.length === 0) this.cell()
  }

  observe(number: number, ...values: [first?: string, second?: string, third?: string]) {
    const distribution = this.cell(...values)
    const buckets = this.#buckets
    let bucket = 0
    while (bucket < buckets.length && number > (buckets[bucket] as number)) bucket++
    ;(distribution.counts[bucket] as number) += 1
    distribution.sum += number
  }

  protected begin() {
    return { counts: Array<number>(this.#buckets.length + 1).fill(0), sum: 0 }
  }

  protected show({ counts, sum }: Distribution, labels: Labels) {
    const { name } = this
    let count = 0
    const buckets = counts.map((inBucket, index) => {
      count += inBucket
      return { metricName: `${name}_bucket`, labels: { ...labels, le: this.#buckets[index] ?? '+Inf' }, value: count }
    })
    return [
      ...buckets,
      { metricName: `${name}_sum`, labels, value: sum },
      { metricName: `${name}_count`, labels, value: count },
    ]
  }
}
