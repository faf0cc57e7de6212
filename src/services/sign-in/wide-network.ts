/**
 * The network that shares are counted for: the /24 of an IPv4 address, and the /48 of an IPv6 network of four groups.
 * One person easily has so much. Other names are networks of their own.
 */
export const wideNetworkOf = (network: string): string => network.replace(/[.:][^.:]+$/, '')
