import { Vendor } from './vendor.ts'

// A vendor in a separate process, which outlives its clients and ends with its parent process.
console.log(await new Vendor().listen())
