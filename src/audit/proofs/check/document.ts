import { canonicalJson } from '../../../engine/log/canonical.ts'

/**
 * The value of a JSON text; undefined if it is none, or if it can be read in two ways: a name comes twice, or it holds
 * half of a surrogate pair, which languages encode differently.
 */
export const parseDocument = (text: string): unknown => {
  try {
    const value: unknown = JSON.parse(text)
    return membersIn(text) === membersIn(canonicalJson(value)) ? value : undefined
  } catch {
    return undefined
  }
}

/** How many members the objects in a JSON text have. */
const membersIn = (text: string): number => {
  let members = 0
  let isInText = false
  for (const [token, colon] of text.matchAll(/\\.|"(\s*:)?/g)) {
    if (token.startsWith('\\')) continue
    if (isInText && colon) members += 1
    isInText = !isInText
  }
  return members
}
