import { canonicalJson } from '../../engine/log/canonical.ts'
import { Damaged } from '../../ports/faults.ts'
import type { Exporter } from './exporter.ts'

/** Every event as a line of canonical JSON, also one that is damaged, so that `audit verify` finds the same in it. */
export const jsonlExporter = (): Exporter => ({
  take: event => {
    try {
      return `${canonicalJson(event)}\n`
    } catch (cause) {
      const { stream, revision } = event
      throw new Damaged(`${stream} holds at revision ${revision} text that has no canonical form`, { cause })
    }
  },
})
