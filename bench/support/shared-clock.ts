/** Microseconds since some moment, which is the same for all processes of the machine. */
export const sharedMicros = (): number => {
  const [seconds, nanoseconds] = process.hrtime()
  return seconds * 1_000_000 + Math.round(nanoseconds / 1000)
}
