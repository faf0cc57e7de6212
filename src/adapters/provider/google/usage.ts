import type { Work } from '../../../ports/provider.ts'

type Units = Record<string, number>

export const workOf = (version: unknown, units: Units): Work => ({
  ...(typeof version === 'string' && { version }),
  units,
})

/**
 * The counts in a usage report, such as `promptTokenCount`, and `candidatesTokensDetails.IMAGE` for counts by modality.
 */
export const unitsOf = (usage: unknown): Units => {
  const units: Units = {}
  for (const [name, value] of Object.entries(usage ?? {})) {
    if (isCount(value)) units[name] = value
    for (const entry of listOf(value)) {
      const { modality, tokenCount, tokens } = (entry ?? {}) as Record<string, unknown>
      const count = tokenCount ?? tokens
      if (typeof modality === 'string' && isCount(count)) units[`${name}.${modality}`] = count
    }
  }
  return units
}

/**
 * The counts of a request to generate content. Google omits counts of 0:
 * https://ai.google.dev/api/generate-content#UsageMetadata. Output tokens without a modality are text if others have
 * one; otherwise their kind is unknown.
 */
export const contentUnitsOf = (usage: unknown): Units => {
  const units = unitsOf(usage)
  if (units['promptTokenCount'] === undefined) return units
  const { candidatesTokenCount = 0, thoughtsTokenCount = 0 } = units
  const counted = { ...units, candidatesTokenCount, thoughtsTokenCount }
  const parts = Object.entries(units).filter(([name]) => name.startsWith(`${CANDIDATES}.`))
  if (parts.length === 0 && candidatesTokenCount > 0) return counted
  const rest = parts.reduce((left, [, count]) => left - count, candidatesTokenCount)
  return { ...{ [`${CANDIDATES}.IMAGE`]: 0, [`${CANDIDATES}.TEXT`]: Math.max(rest, 0) }, ...counted }
}

const CANDIDATES = 'candidatesTokensDetails'

/** The work of several calls. */
export const sumOf = (works: readonly Work[]): Work => {
  const units: Units = {}
  for (const work of works)
    for (const [name, count] of Object.entries(work.units ?? {})) units[name] = (units[name] ?? 0) + count
  return workOf(works.find(({ version }) => version !== undefined)?.version, units)
}

export const listOf = (value: unknown): unknown[] => (Array.isArray(value) ? value : [])

const isCount = (value: unknown): value is number => Number.isFinite(value) && (value as number) >= 0
