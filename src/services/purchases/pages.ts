/** The page of the console where credits are bought. */
export const CREDITS_PATH = '/console/credits'

export const purchasePath = (purchaseId: string): string => `${CREDITS_PATH}/purchases/${purchaseId}`

/** Leads to the invoice at the payment service. */
export const invoicePath = (purchaseId: string): string => `${purchasePath(purchaseId)}/invoice`
