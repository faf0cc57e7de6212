/**
 * The currencies in use by ISO 4217, as of November 2026, by the number of their decimals. Without units of account,
 * metals and codes for tests. `Intl` follows custom instead, such as no decimals for HUF, and has past currencies.
 */
const BY_DECIMALS: Record<number, string> = {
  0: 'BIF CLP DJF GNF ISK JPY KMF KRW PYG RWF UGX VND VUV XAF XOF XPF',
  2: [
    'AED AFN ALL AMD AOA ARS AUD AWG AZN BAM BBD BDT BMD BND BOB BRL BSD BTN BWP BYN BZD CAD CDF CHF CNY COP CRC CUP',
    'CVE CZK DKK DOP DZD EGP ERN ETB EUR FJD FKP GBP GEL GHS GIP GMD GTQ GYD HKD HNL HTG HUF IDR ILS INR IRR JMD KES',
    'KGS KHR KPW KYD KZT LAK LBP LKR LRD LSL MAD MDL MGA MKD MMK MNT MOP MRU MUR MVR MWK MXN MYR MZN NAD NGN NIO NOK',
    'NPR NZD PAB PEN PGK PHP PKR PLN QAR RON RSD RUB SAR SBD SCR SDG SEK SGD SHP SLE SOS SRD SSP STN SVC SYP SZL THB',
    'TJS TMT TOP TRY TTD TWD TZS UAH USD UYU UZS VED VES WST XCD XCG YER ZAR ZMW ZWG',
  ].join(' '),
  3: 'BHD IQD JOD KWD LYD OMR TND',
}

const decimals = new Map(
  Object.entries(BY_DECIMALS).flatMap(([count, codes]) => codes.split(' ').map(code => [code, Number(count)])),
)

/** The most decimals that an amount of a currency has; undefined if the currency is not in use. */
export const decimalsOf = (currency: string): number | undefined => decimals.get(currency)

/**
 * Payment services take only multiples of so many of the smallest units: hundredths of the currencies with three
 * decimals (https://docs.stripe.com/currencies#three-decimal), and whole ariary.
 */
export const stepOf = (currency: string): bigint => {
  if (currency === 'MGA') return 100n
  return decimalsOf(currency) === 3 ? 10n : 1n
}
