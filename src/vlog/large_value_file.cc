#include "vlog/large_value_file.h"

#include <array>
#include <string>

#include "vlog/value_reader.h"

namespace cambium {

Status WriteLargeValueFile(File* file, const FileHeader& header, const RecordHeader& record, Slice key, Slice stored) {
  std::string front = EncodeFileHeader(header);
  front.resize(kLargeRecordOffset);
  char bytes[kRecordHeaderSize];
  EncodeRecordHeader(record, header.Seed(), kLargeRecordOffset, bytes);
  front.append(bytes, sizeof(bytes));
  front.append(key.data(), key.size());
  const std::string padding(record.RecordSize() - kRecordHeaderSize - key.size() - stored.size(), '\0');
  const std::array<Slice, 3> pieces{Slice(front), stored, Slice(padding)};
  return file->WriteVectored(0, pieces);
}

}  // namespace cambium
