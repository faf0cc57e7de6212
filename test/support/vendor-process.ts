import { Vendor } from './vendor.ts'

// A vendor as a process of its own, that outlives whoever asks it. It ends with the process that began it, or before.
console.log(await new Vendor().listen())
