/** A picture by the sandbox, made with the first run of `nano-banana-2`. */
export const PICTURE_PATH = '/console/first-picture.jpg'

/** The address of the sample of a family. */
export const sampleOf = (family: string): string => `/console/samples/${family}`
