import type { Projection } from '../../../projections/projection.ts'
import { BY_KEY, type Entry } from '../../ports/view-store.ts'

/** For each view, the versions of the projections that make it. */
export type ViewVersions = Readonly<Record<string, string>>

/** Projections by the event types that they handle. */
export class ProjectionSet {
  readonly versions: ViewVersions
  readonly #projections: readonly Projection[]
  readonly #byType = new Map<string, Projection[]>()

  constructor(projections: readonly Projection[]) {
    this.#projections = projections
    const versions: Record<string, string> = {}
    for (const projection of projections) {
      const { name, view, version } = projection
      versions[view] = [versions[view] ?? [], `${name} ${version}`].flat().join(', ')
      for (const type of Object.keys(projection.on)) this.#byType.set(type, [...this.handling(type), projection])
    }
    this.versions = versions
  }

  handling(type: string): readonly Projection[] {
    return this.#byType.get(type) ?? []
  }

  /** Whether an entry of an index is at the place of its row. */
  hasPlace(view: string, index: string, { place, key, row }: Entry<object>): boolean {
    if (index === BY_KEY) return place === key
    return this.#projections.some(each => each.view === view && each.indexes[index]?.(row, key) === place)
  }

  /** The projections that make these views. */
  only(views: ReadonlySet<string>): ProjectionSet {
    return new ProjectionSet(this.#projections.filter(({ view }) => views.has(view)))
  }

  /** The views that other versions of their projections built, and those that only other versions know. */
  outdated(versions: ViewVersions = {}): Set<string> {
    const views = new Set([...Object.keys(versions), ...Object.keys(this.versions)])
    return new Set([...views].filter(view => versions[view] !== this.versions[view]))
  }
}
