/** How the operator's service presents itself to its customers. */
export interface Brand {
  /** The name of the service, on one line. It may hold any sign, so it is escaped wherever signs have a meaning. */
  name: string
  /** Replaces our logo. */
  logo: BrandLogo | undefined
  /** Replaces the accent colour: `#rrggbb`, dark enough for text on white. */
  color: string | undefined
  /** Markdown that introduces the service at `/` in place of our own words. */
  text: string | undefined
}

export interface BrandLogo {
  type: string
  bytes: Uint8Array
}
