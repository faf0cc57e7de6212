import type { Folder } from '../../ports/object-store.ts'

export interface Retention {
  uploadsMs: number
  outputsMs: number
}

const DAY_MS = 24 * 60 * 60 * 1000

/**
 * Adds lifecycle rules to a bucket's rules. They delete objects that the service should have deleted a day ago.
 * Undefined if they are already present. Other rules stay byte for byte the same.
 */
export const withOurRules = (xml: string, { uploadsMs, outputsMs }: Retention): string | undefined => {
  const present = [...xml.matchAll(/<Rule>.*?<\/Rule>/gs)].map(([rule]) => rule)
  const ours = [
    ourRule(present, 'uploads', uploadsMs),
    ourRule(present, 'outputs', outputsMs),
    ourRule(present, 'thumbnails', outputsMs),
  ]
  if (ours.every(({ isPresent }) => isPresent)) return undefined
  const others = present.filter(rule => ours.every(({ id }) => idOf(rule) !== id))
  const rules = [...others, ...ours.map(({ rule }) => rule)].join('')
  return `<LifecycleConfiguration xmlns="${XMLNS}">${rules}</LifecycleConfiguration>`
}

const XMLNS = 'http://s3.amazonaws.com/doc/2006-03-01/'

const ourRule = (present: string[], folder: Folder, retentionMs: number) => {
  const id = `tollgate-${folder}`
  const before = present.find(rule => idOf(rule) === id)
  const daysBefore = Number(/<Days>(\d+)<\/Days>/.exec(before ?? '')?.[1] ?? 0)
  // Existing objects keep the longer retention that applied when they were stored.
  const days = Math.max(Math.ceil(retentionMs / DAY_MS) + 1, daysBefore)
  const filter = `<Filter><Prefix>${folder}/</Prefix></Filter>`
  const expiration = `<Expiration><Days>${days}</Days></Expiration>`
  const rule = `<Rule><ID>${id}</ID>${filter}<Status>Enabled</Status>${expiration}</Rule>`
  return { id, rule, isPresent: days === daysBefore && before?.includes('<Status>Enabled</Status>') }
}

const idOf = (rule: string) => /<ID>(.*?)<\/ID>/s.exec(rule)?.[1]
