/** An object without its null members: clients in some languages send null for what they leave out. */
export const withoutNulls = <Some extends object>(
  value: Some,
  isOptional: (name: string) => boolean = () => true,
): Some =>
  Object.fromEntries(Object.entries(value).filter(([name, member]) => member !== null || !isOptional(name))) as Some
