/**
 * The network that shares are counted for: the /24 of an IPv4 address, and the /48 of an IPv6 network of four groups.
 * So much is easily had by one person. Other names are networks of their own.
 */
export const wideNetworkOf = (network: string): string => network.replace(/[.:][^.:]+$/, '')
