import type { Operation } from './operation.ts'
import { auditOperations } from './routes/audit.ts'
import { balanceOperations } from './routes/balance.ts'
import { callbackOperations } from './routes/callbacks.ts'
import { cdnOperations } from './routes/cdn.ts'
import { deliveryOperations } from './routes/deliveries.ts'
import { descriptorOperations } from './routes/descriptors.ts'
import { docsOperations } from './routes/docs.ts'
import { healthOperations } from './routes/health.ts'
import { keyOperations } from './routes/keys.ts'
import { ledgerOperations } from './routes/ledger.ts'
import { mcpOperations } from './routes/mcp.ts'
import { modelOperations } from './routes/models.ts'
import { noticeOperations } from './routes/notices.ts'
import { proofOperations } from './routes/proofs.ts'
import { runEventOperations } from './routes/run-events.ts'
import { runOperations } from './routes/runs.ts'
import { sealOperations } from './routes/seals.ts'
import { uploadOperations } from './routes/uploads.ts'
import { usageOperations } from './routes/usage.ts'
import { webhookOperations } from './routes/webhooks.ts'

/** All operations of the HTTP API, in the order of the OpenAPI document. */
export const operations: Operation[] = [
  ...modelOperations,
  ...runOperations,
  ...runEventOperations,
  ...balanceOperations,
  ...keyOperations,
  ...noticeOperations,
  ...proofOperations,
  ...ledgerOperations,
  ...usageOperations,
  ...sealOperations,
  ...uploadOperations,
  ...webhookOperations,
  ...deliveryOperations,
  ...cdnOperations,
  ...auditOperations,
  ...mcpOperations,
  ...descriptorOperations,
  ...docsOperations,
  ...healthOperations,
  ...callbackOperations,
]
