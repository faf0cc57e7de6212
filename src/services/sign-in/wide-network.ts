/**
 * The networks that a client's share is counted for, the narrowest first: the /24 and the /16 of an IPv4 address, the
 * /48 and the /32 of an IPv6 network of four groups. One person easily has the first, and a provider the second. Any
 * other name is both. The two never have the same name.
 */
export const wideNetworksOf = (network: string): [string, string] => {
  const narrow = wider(network)
  return [narrow, `${wider(narrow)}/`]
}

const wider = (network: string): string => network.replace(/[.:][^.:]+$/, '')
