/** A line of metrics: a name with labels, and a number. */
export interface Sample {
  name: string
  labels: Record<string, string>
  value: number
}

/** Reads the metrics of a service. */
export const readMetrics = async ({ metricsPort }: { metricsPort: number | undefined }): Promise<Metrics> =>
  new Metrics(await (await fetch(`http://127.0.0.1:${metricsPort}/metrics`)).text())

export class Metrics {
  readonly samples: Sample[]

  constructor(text: string) {
    this.samples = [...text.matchAll(/^(\w+)(?:\{(.*)\})? (\S+)$/gm)].map(([, name = '', labels = '', value]) => ({
      name,
      labels: Object.fromEntries([...labels.matchAll(/(\w+)="([^"]*)"/g)].map(([, label, text]) => [label, text])),
      value: Number(value),
    }))
  }

  /** The sum of the samples with these labels; undefined if there is none. */
  sum(name: string, labels: Record<string, string> = {}): number | undefined {
    const found = this.samples.filter(
      each => each.name === name && Object.entries(labels).every(([label, text]) => each.labels[label] === text),
    )
    return found.length === 0 ? undefined : found.reduce((sum, { value }) => sum + value, 0)
  }

  /** The values of a label. */
  values(name: string, label: string): string[] {
    return [...new Set(this.samples.flatMap(each => (each.name === name ? [each.labels[label] ?? ''] : [])))].sort()
  }
}
