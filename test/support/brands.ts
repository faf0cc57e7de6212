import type { Brand } from '../../src/domain/brand.ts'

/** A service whose operator has set nothing. */
export const ourBrand: Brand = { name: 'Tollgate', logo: undefined, color: undefined, text: undefined }

/** A name with signs that mean something in HTML, mail and books. */
export const AWKWARD_NAME = 'Großartige: "Bilder" & Co.;  <KG>'

export const HEBREW_NAME = 'בית התמונות'

/** A logo without a width and a height, which is twice as wide as high. */
const svg = '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 24 12"><circle cx="6" cy="6" r="6" fill="red"/></svg>'

export const awkwardBrand: Brand = {
  ...ourBrand,
  ...{ name: AWKWARD_NAME, color: '#b3261e', logo: { type: 'image/svg+xml', bytes: Buffer.from(svg) } },
}
