import type { Family } from '../../../schemas/catalog.ts'
import { type JsonDifference, jsonDiff } from './json-diff.ts'

/** The differences between two forms of a family. A new family differs in all that it has. */
export const familyDiff = (before: Family | undefined, after: Family): JsonDifference[] => jsonDiff(before ?? {}, after)
