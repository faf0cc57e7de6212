/** A parameter, as forms carry it: text, a list, or further parameters. */
export type Parameter = string | Parameter[] | { [name: string]: Parameter }
export type Parameters = { [name: string]: Parameter }

/**
 * Form-encoded parameters with nested names, such as `line_items[0][price_data][currency]=eur` and `expand[]=invoice`:
 * https://docs.stripe.com/api?lang=curl
 */
export const parseForm = (text: string): Parameters => {
  const tree: Parameters = {}
  for (const [name, value] of new URLSearchParams(text)) {
    const [first = '', ...rest] = name.split(/\]?\[|\]$/).filter((part, at, all) => part !== '' || at < all.length - 1)
    put(tree, [first, ...rest], value)
  }
  return lists(tree) as Parameters
}

const put = (tree: Parameters, [first = '', ...rest]: string[], value: string) => {
  const name = first === '' ? String(Object.keys(tree).length) : first
  if (rest.length === 0) {
    tree[name] = value
    return
  }
  tree[name] ??= {}
  put(tree[name] as Parameters, rest, value)
}

/** Parameters whose names are 0, 1, 2 and so on are a list. */
const lists = (value: Parameter): Parameter => {
  if (typeof value === 'string' || Array.isArray(value)) return value
  const entries = Object.entries(value).map(([name, each]) => [name, lists(each)] as const)
  const isList = entries.length > 0 && entries.every(([name], at) => name === String(at))
  return isList ? entries.map(([, each]) => each) : Object.fromEntries(entries)
}
